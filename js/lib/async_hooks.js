(function (host, need) { 'use strict'; return {}; })

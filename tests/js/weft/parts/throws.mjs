throw new RangeError('of the module');

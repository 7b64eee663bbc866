this is no module;

export const twice = (value) => 2 * value;

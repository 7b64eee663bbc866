export default {}; export const x = 1

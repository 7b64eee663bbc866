export default "space";

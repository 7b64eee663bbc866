export default await new Promise((resolve) => setTimeout(resolve, 1, "later"));

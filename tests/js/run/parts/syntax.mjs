let x = =;

let = =;

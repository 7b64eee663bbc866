let = = 

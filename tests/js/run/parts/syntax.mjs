let x = = 

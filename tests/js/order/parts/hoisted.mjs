console.log('hoisted runs');
export const later = 1;

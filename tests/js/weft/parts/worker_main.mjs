export async function main(count) {
    const { twice } = await import('./twice.mjs');
    return twice(count);
}

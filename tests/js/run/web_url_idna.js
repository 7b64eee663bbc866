// SPDX-License-Identifier: MIT
// URL: international names of hosts, letter by letter where Node's and the engine's versions of Unicode agree.
const host = (name) => {
    try {
        return new URL(`http://${name}/`).host;
    } catch (error) {
        return error.message;
    }
};
for (const name of [
    'אבג', 'אבג1', 'אב1ג', 'aאב', 'אבa', 'עברית.com', 'com.עברית', 'a.b.ج', 'مثال.إختبار', 'نامه\u200cای.com',
    'ab\u200cc', 'क्\u200cष', 'क\u200dष', '\u0627\u0661', '\u06271\u0661', 'א-ב', 'א-', 'א\u05b7',
    'xn--4dbrk0ce', 'xn--mgbh0fb.xn--kgbechtv', 'xn--hgbk6aj7f53bba', 'xn--xn---epa', 'xn--a.b',
    'a\u0308\u0301', 'Ǆ', 'ŉ', 'ΐ', 'և', 'ᾳ', 'ᾼ', 'ﬗ', 'ﷺ', 'ｶﾞ', '㎏', '½', '℀', '™', 'ⅷ', 'Ⅻ', 'ª', '⁵',
    'ﬓ', '🏳️‍🌈', '👨‍👩‍👧', '1️⃣', 'é\u0301', '\u1100\u1161', 'Ω', 'Ⓐ', '㋀', '㍿', '𝟙', 'ß.ß', 'ΣΑΣ', 'ς',
    'σ\u03c2', 'I\u0307', 'ıİ', '\ua64a', 'ꙋ', 'ᲀ', 'Ა', 'ⴀ',
]) {
    console.log(`${JSON.stringify(name)} ${host(name)}`);
}

// Blocks of letters, as one number for each 64 of them.
for (const [from, to] of [[0x80, 0x370], [0x3b0, 0x4c0], [0x500, 0x530], [0x1e00, 0x2000], [0x2070, 0x20c0], [0x2100, 0x2130],
    [0x2150, 0x2180], [0x2460, 0x2480], [0x24b6, 0x2500], [0x3000, 0x3160], [0x3200, 0x33c0], [0xab70, 0xabc0], [0xf900, 0xfb00],
    [0xff00, 0xffa0], [0x10400, 0x10450], [0x1d400, 0x1d6a0], [0x1f300, 0x1f600]]) {
    const sums = [];
    for (let start = from; start < to; start += 64) {
        let sum = 0;
        for (let code = start; code < Math.min(start + 64, to); code++) {
            for (const letter of host(`a${String.fromCodePoint(code)}b`)) {
                sum = (sum * 31 + letter.codePointAt(0)) % 1000003;
            }
        }
        sums.push(sum);
    }
    console.log(`${from.toString(16)} ${sums.join(' ')}`);
}

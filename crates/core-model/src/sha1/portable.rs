//! SHA-1 (FIPS 180-4) without another crate.

/// Returns the SHA-1 of some bytes.
pub(super) fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let (blocks, rest) = bytes.as_chunks::<64>();
    for block in blocks {
        compress(&mut state, block);
    }
    let mut tail = [0; 128];
    let length = if rest.len() < 56 { 64 } else { 128 };
    for (place, byte) in tail.iter_mut().zip(rest.iter().chain(&[0x80])) {
        *place = *byte;
    }
    let n_bits = (bytes.len() as u64 * 8).to_be_bytes();
    for (place, byte) in tail.iter_mut().skip(length - 8).zip(n_bits) {
        *place = byte;
    }
    for block in tail.as_chunks::<64>().0.iter().take(length / 64) {
        compress(&mut state, block);
    }
    let mut digest = [0; 20];
    for (place, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *place = word.to_be_bytes();
    }
    digest
}

#[expect(clippy::indexing_slicing, reason = "16..80, less at most 16, is within 80 words")]
fn compress(state: &mut [u32; 5], block: &[u8; 64]) {
    let mut schedule = [0_u32; 80];
    for (word, bytes) in schedule.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for n in 16..80 {
        let word = schedule[n - 3] ^ schedule[n - 8] ^ schedule[n - 14] ^ schedule[n - 16];
        schedule[n] = word.rotate_left(1);
    }
    let mut mixed = *state;
    let (quarters, _) = schedule.as_chunks::<20>();
    if let [first, second, third, fourth] = quarters {
        rounds(&mut mixed, first, 0x5a82_7999, |b, c, d| d ^ (b & (c ^ d)));
        rounds(&mut mixed, second, 0x6ed9_eba1, |b, c, d| b ^ c ^ d);
        rounds(&mut mixed, third, 0x8f1b_bcdc, |b, c, d| (b & c) | (d & (b | c)));
        rounds(&mut mixed, fourth, 0xca62_c1d6, |b, c, d| b ^ c ^ d);
    }
    for (word, more) in state.iter_mut().zip(mixed) {
        *word = word.wrapping_add(more);
    }
}

/// Computes twenty rounds, five at a time: after five rounds each variable has its own name again.
#[inline(always)]
fn rounds(
    state: &mut [u32; 5],
    words: &[u32; 20],
    constant: u32,
    mix: impl Fn(u32, u32, u32) -> u32,
) {
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    let round = |a: u32, b: &mut u32, c: u32, d: u32, e: &mut u32, word: u32| {
        let sum = e.wrapping_add(constant).wrapping_add(word).wrapping_add(mix(*b, c, d));
        *e = sum.wrapping_add(a.rotate_left(5));
        *b = b.rotate_left(30);
    };
    for [first, second, third, fourth, fifth] in words.as_chunks::<5>().0 {
        round(a, &mut b, c, d, &mut e, *first);
        round(e, &mut a, b, c, &mut d, *second);
        round(d, &mut e, a, b, &mut c, *third);
        round(c, &mut d, e, a, &mut b, *fourth);
        round(b, &mut c, d, e, &mut a, *fifth);
    }
    *state = [a, b, c, d, e];
}

#[cfg(test)]
mod tests {
    use super::sha1;

    fn hex(bytes: &[u8]) -> String {
        sha1(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_examples_of_the_standard() {
        assert_eq!(hex(b""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(hex(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hex(two_blocks), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        assert_eq!(hex(&[b'a'; 1_000_000]), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
        // Lengths at which the padding starts or ends a block.
        let lengths = [55, 56, 57, 63, 64, 65, 119, 120, 127, 128];
        let all: String = lengths.iter().map(|length| hex(&vec![b'x'; *length])).collect();
        assert_eq!(hex(all.as_bytes()), "4100a9c3a81fd022f26df5bf8a3bdb03a9753b97");
    }
}

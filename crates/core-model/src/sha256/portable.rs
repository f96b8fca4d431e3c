//! SHA-256 (FIPS 180-4) without special instructions.

/// The state after the hashed blocks, and the bytes of the incomplete block.
#[derive(Clone, Debug)]
pub(super) struct Portable {
    state: [u32; 8],
    block: [u8; 64],
    n_bytes: u64,
}

impl Default for Portable {
    fn default() -> Self {
        Self { state: START, block: [0; 64], n_bytes: 0 }
    }
}

impl Portable {
    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let n_held = (self.n_bytes % 64) as usize;
            let free = self.block.get_mut(n_held..).unwrap_or_default();
            let n = free.len().min(bytes.len());
            let (now, later) = bytes.split_at(n);
            for (place, byte) in free.iter_mut().zip(now) {
                *place = *byte;
            }
            self.n_bytes = self.n_bytes.wrapping_add(n as u64);
            if self.n_bytes.is_multiple_of(64) {
                compress(&mut self.state, &self.block);
            }
            bytes = later;
        }
    }

    pub(super) fn finish(mut self) -> [u8; 32] {
        let n_bits = self.n_bytes.wrapping_mul(8).to_be_bytes();
        let n_held = (self.n_bytes % 64) as usize;
        let n_zeros = if n_held < 56 { 55 - n_held } else { 119 - n_held };
        self.update(&[0x80]);
        self.update([0; 64].get(..n_zeros).unwrap_or_default());
        self.update(&n_bits);
        let mut hash = [0; 32];
        for (place, word) in hash.as_chunks_mut::<4>().0.iter_mut().zip(self.state) {
            *place = word.to_be_bytes();
        }
        hash
    }
}

#[expect(clippy::indexing_slicing, reason = "16..64, less at most 16, is within 64 words")]
fn compress(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut schedule = [0_u32; 64];
    for (word, bytes) in schedule.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for n in 16..64 {
        let (before, last) = (schedule[n - 15], schedule[n - 2]);
        let low = before.rotate_right(7) ^ before.rotate_right(18) ^ before >> 3;
        let high = last.rotate_right(17) ^ last.rotate_right(19) ^ last >> 10;
        let sum = schedule[n - 16].wrapping_add(low);
        schedule[n] = sum.wrapping_add(schedule[n - 7]).wrapping_add(high);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in schedule.into_iter().zip(CONSTANTS) {
        let high = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let first = h.wrapping_add(high).wrapping_add(g ^ (e & (f ^ g)));
        let first = first.wrapping_add(constant).wrapping_add(word);
        let low = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = low.wrapping_add((a & b) | (c & (a | b)));
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (word, more) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(more);
    }
}

/// The first 32 bits of the fractions of the square roots of the first 8 primes.
const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
#[rustfmt::skip]
const CONSTANTS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

#[cfg(test)]
mod tests {
    use sha2::Digest;

    use super::*;

    #[test]
    fn the_same_hashes_as_of_sha2() {
        let bytes: Vec<u8> = (0..1_000_u32).map(|n| (n * n % 251) as u8).collect();
        for length in (0..300).chain([500, 512, 1_000]) {
            for step in [1, 7, 64, 1_000] {
                let mut hash = Portable::default();
                bytes[..length].chunks(step).for_each(|piece| hash.update(piece));
                let expected: [u8; 32] = sha2::Sha256::digest(&bytes[..length]).into();
                assert_eq!(hash.finish(), expected, "{length} bytes by {step}");
            }
        }
    }
}

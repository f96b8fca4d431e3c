//! The rules for secrets that open something by themselves: phrases, recovery keys, private numbers, hashes, and the keys of
//! calls and headers that few programs have.

use crate::{
    arguments,
    class::HEX,
    command_line, cookie, header, recovery,
    rule::{
        Edge,
        Part::{By, Each, Run},
        Rule, Secret,
    },
    spoken,
};

/// Secrets of wallets, disks, accounts and devices. Some prefixes start within a word: its first letters are too frequent.
pub(super) static BY_RECOVERY: &[Rule] = &[
    // In: `seed phrase: gravity lunar ..`. Out: the twelve words.
    Rule::new(
        "seed-phrase",
        "the words that open a wallet",
        &[
            " phrase", " Phrase", "edPhrase", "_phrase", "ryPhrase", "mPhrase", "nemonic",
            "NEMONIC", "_PHRASE", "seed", "Seed", "SEED", "t words",
        ],
        &[By(recovery::phrase)],
    ),
    // In: `Recovery key: 654107-093316-..`. Out: the eight groups.
    Rule::new(
        "recovery-key",
        "BitLocker: a recovery key",
        &[
            "covery Key",
            "covery key",
            "ryKey",
            "covery Password",
            "covery password",
            "ryPassword",
            "rical Password",
            "itLocker",
            "ITLOCKER",
        ],
        &[By(recovery::groups)],
    ),
    // In: `Recovery codes:`, and `4f9a2-1c8e7` in each line after it. Out: each code.
    Rule::new(
        "recovery-key",
        "a code for the second factor of an account",
        &[
            "covery codes",
            "covery Codes",
            "ckup codes",
            "ckup Codes",
            "covery_codes",
            "up_codes",
            "upCodes",
            "ryCodes",
            "cratch codes",
            "gency codes",
            "-time codes",
            "gency Codes",
        ],
        &[Each(recovery::codes)],
    ),
    // In: `2FA key for ada: KZQN2XNNMHD4L4W6`. Out: the 16 letters.
    Rule::new(
        "recovery-key",
        "the key of a second factor",
        &[
            "TOTP",
            "totp",
            "HOTP",
            "2FA",
            "2fa",
            "MFA",
            "mfa",
            "OTP",
            "otp ",
            "uthenticator",
            "gauth",
            "entry key",
            "etup key",
        ],
        &[By(recovery::second_factor)],
    ),
    // In: `new ethers.Wallet("0x4c08..", provider)`. Out: `0x4c08..`.
    Rule::new(
        "private-key",
        "the number of a private key, in a call",
        &[
            "Wallet(",
            "KeyToAccount(",
            "KeyToAddress(",
            ".from_key(",
            "mPrivateKey(",
            "eypair.fromSecret(",
            "--private-key ",
            "--private-key=",
            "ccounts: [",
        ],
        &[By(recovery::wallet)],
    ),
    // In: `priv:`, and `4f:c2:09:..` in the next lines. Out: the pairs of digits.
    Rule::new(
        "private-key",
        "the numbers of a private key, as openssl prints them",
        &[
            "\npriv:",
            "npriv:",
            "vateExponent:",
            "rime1:",
            "rime2:",
            "nent1:",
            "nent2:",
            "coefficient:",
        ],
        &[By(recovery::numbers)],
    ),
    // In: `* NTLM     : 144eb0b4..`. Out: `144eb0b4..`.
    Rule::new(
        "password-hash",
        "Windows: a hash that opens an account",
        &["NTLM", "NT hash", "NTHash", "nthash"],
        &[By(recovery::nt_hash)],
    ),
    // In: `ada:1104:aad3b435b51404eeaad3b435b51404ee:144eb0b4..:::`. Out: `144eb0b4..`.
    Rule {
        secret: Secret::Part(0),
        edge: Edge::None,
        ..Rule::new(
            "password-hash",
            "Windows: a hash in a dump of accounts",
            &["aad3b435b51404eeaad3b435b51404ee:"],
            &[Run(&HEX, 32, 32)],
        )
    },
    // In: `rememberMe=x`. Out: `x`.
    Rule::new(
        "cookie",
        "what keeps a user logged in",
        &[
            "emberMe",
            "ember_me",
            "ember-me",
            "ember_token",
            "ember_user_token",
            "ember_web",
            "XSRF-LOGIN",
        ],
        &[Each(cookie::remembered)],
    ),
    // In: `device_code=x&expires_in=899`. Out: `x`.
    Rule::new(
        "token",
        "a value of OAuth with a name of its own",
        &[
            "device_code",
            "deviceCode",
            "e_verifier",
            "eVerifier",
            "th_req_id",
            "_assertion",
            "ct_token",
            "id_token_hint",
        ],
        &[By(arguments::generated)],
    ),
    // In: `OTEL_EXPORTER_OTLP_HEADERS="x-honeycomb-team=x"`. Out: `x`.
    Rule::new(
        "key",
        "the value of a header or a setting with a name of its own",
        &[
            "x-honeycomb-team",
            "X-Honeycomb-Team",
            "tstep-access",
            "_HMAC ",
            "-Auth:",
            "-auth:",
            "g-seed",
            "g_seed",
            "gSeed",
            "_SEED",
            "_HMAC=",
            "wordsaltmain",
            "_HMAC:",
            "_HMAC\"",
            "_HMAC'",
            "_hmac=",
            "_hmac:",
            "_hmac\"",
            "_hmac'",
            "Hmac\"",
            "NLOCK_CODE",
            "nlock_code",
            "nlockCode",
        ],
        &[By(arguments::generated)],
    ),
    // In: `Rollbar.init(this, "x", "production")`. Out: `x`.
    Rule::new(
        "key",
        "the key of a service for errors, in a call",
        &["ar.init(", "ar.configure(", "gsnag.start(", "gsnag.init(", "irbrake("],
        &[By(arguments::key)],
    ),
    // In: `AES.new(bytes.fromhex("x"))`. Out: `x`.
    Rule::new(
        "key",
        "a key in hexadecimal digits, in a call",
        &[
            "omhex(",
            "mHex(",
            "unhexlify(",
            "hex2bin(",
            "hex.DecodeString(",
            "hex::decode(",
            "seHex(",
            "FromHexString(",
        ],
        &[By(arguments::digits)],
    ),
    // In: `keychain.set("x", forKey: "sharedSecret")`. Out: `x`.
    Rule::new(
        "secret",
        "an argument before the name of a secret",
        &["orKey: ", "lias="],
        &[By(arguments::before_name)],
    ),
    // In: `Sec-WebSocket-Protocol: token, x`. Out: `x`.
    Rule::new(
        "token",
        "a token among the protocols of a socket",
        &[
            "ebSocket-Protocol: ",
            "socket-protocol: ",
            "ebSocket-Protocol\": ",
            "ebSocket-Protocol\\",
        ],
        &[By(header::protocol)],
    ),
    // In: `openssl dgst -sha256 -hmac "x"`. Out: `x`.
    Rule::new(
        "key",
        "a key of openssl",
        &[" -hmac ", "hexkey:", "-macopt key:"],
        &[By(command_line::strong)],
    ),
    // In: `webhooks will be signed with x`. Out: `x`.
    Rule::new(
        "key",
        "the key of a signature, in a sentence",
        &["gned with ", "gn with ", "gning with ", "fy with ", "gned using "],
        &[By(spoken::signed)],
    ),
    // In: `Key Content            : x`, as netsh prints the key of a network. Out: `x`.
    Rule::new(
        "password",
        "of a wireless network, as Windows prints it",
        &["Key Content "],
        &[By(arguments::after_name)],
    ),
    // In: `new Api('rzp_live_..', 'x')`. Out: `x`.
    Rule::new(
        "payment-key",
        "Razorpay: the secret after an id",
        &["rzp_live_", "rzp_test_"],
        &[By(arguments::after_id)],
    ),
];

/** Frozen vectors of ksecuremessage.md 9.4: sealed records under key 00..1f, number 7. Fields and plaintexts as hex. */
const id = '101112131415161718191a1b1c1d1e1f';
const frameHello = `0101${id}0000000568656c6c6f`;
const lp = (hex: string) => (hex.length / 2).toString(16).padStart(8, '0') + hex;
const text = (value: string) =>
  [...value].map((letter) => letter.charCodeAt(0).toString(16).padStart(2, '0')).join('');
const run = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => (first + at).toString(16).padStart(2, '0')).join('');

export const key = { id: 7, hex: run(0x00, 32) } as const;

export const records = [
  {
    type: 4,
    fields: [text('bob'), text('laptop')],
    plaintext: text('ratchet-state'),
    nonce: run(0xa0, 12),
    record:
      '4b534d52010100000007a0a1a2a3a4a5a6a7a8a9aaab9479084e2dae76921111e6a762f6e5f769cd5531b252c0472a9e5067b2',
  },
  {
    type: 11,
    fields: [text('alice'), text('phone'), id],
    plaintext: frameHello,
    nonce: run(0xd0, 12),
    record:
      '4b534d52010100000007d0d1d2d3d4d5d6d7d8d9dadb2da6f67f7ab4e5b44e4830a6eccd9bfcd1155dd54098d0235fe62178763f5af72c5979e56a3c5e5a2d1c66',
  },
  {
    type: 12,
    fields: [text('alice'), text('phone'), id],
    plaintext: `01${'33'.repeat(32)}`,
    nonce: run(0xe0, 12),
    record:
      '4b534d52010100000007e0e1e2e3e4e5e6e7e8e9eaeb35f1fab0c6f3b918f3304d7d6d2fcbb0f69608d4cdb7fe2bafb2594e3f021bb9607e5c95f2147bf079b9892b88ed18580b',
  },
  {
    type: 7,
    fields: [],
    plaintext: `01${lp('11'.repeat(32))}${lp('22'.repeat(32))}`,
    nonce: run(0xa0, 12),
    record:
      '4b534d52010100000007a0a1a2a3a4a5a6a7a8a9aaabe7187c2d65da13ae737496c2166bd1cf61bd480183a6537d8d1f37976eba6410c36756eebe22533d7fbe26ea2b58a1db6539646a40f2385c637c297c8652a792969ea74d1287c6c2d6175041e4e06246d3fdefb64732241fd7',
  },
  {
    type: 13,
    fields: [text('legacy-plaintext-migration')],
    plaintext: text('KSecureMessage-LegacyPlaintextMigration-v1'),
    nonce: run(0xf0, 12),
    record:
      '4b534d52010100000007f0f1f2f3f4f5f6f7f8f9fafb225526630948b739fa8484fbe92f4ffa758638a1415723f93f3847c521479f6e7b6277f029ecdfb4ee69ccc4cfbb350ee55107466976b840ec7a',
  },
  {
    type: 5,
    fields: [text('bob'), text('laptop'), id],
    plaintext: frameHello,
    nonce: run(0x50, 12),
    record:
      '4b534d52010100000007505152535455565758595a5b93262665f643adf34aa1257cd7fa9fc8fd30fdeb2274f24748e58f9819d90c5688fcd80a765f40ae35eb73',
  },
] as const;

/** Frozen vector of formats.md 8.4, made with the signatures of Node and bytes put together by hand. */
export const rate = {
  secret: '60656a6f74797e43484d52575c21262b30353a3f04090e13181de2e7ecf1f6fb',
  identity: 'a2a6cbd8a0a57a63350692643c9cbadae974e78b5b19625c302a400452bebad0',
  text: 'oqbL2KClemM1BpJkPJy62ul054tbGWJcMCpABFK-utA',
  magic: '11c014e5',
  event: 'e1eaf3fc050e172029323b444d565f68717a838c959ea7b0b9c2cbd4dde6eff8',
  epoch: 47_562,
  ticket: 99,
  blob:
    '01a2a6cbd8a0a57a63350692643c9cbadae974e78b5b19625c302a400452bebad0cab900000000000063004d0bc87e7e5bf974' +
    '839083422db0ad6bf4f9d6140201312c45700bd1daab35dd5ccdb98fa6b2ce0bb52c5d84f873570dea6c8ab2c4550c7fdf2b5c' +
    '5e42e95707',
} as const;

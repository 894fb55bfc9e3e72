// The package is ESM: jest takes it as it is, with NODE_OPTIONS=--experimental-vm-modules.
export default { testMatch: ['<rootDir>/*.test.mjs'], transform: {} };

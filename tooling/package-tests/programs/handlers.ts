import { defineHandlers, handler } from '@q/core';

export const handlers = defineHandlers({
  greet: handler(async ({ name }: { name: string }) => console.log(`Hello, ${name}`)),
});

// What the reference must not be made of: nothing here has a docstring, and the one that has links to nothing.

export class WithoutDocstring {}

export function withoutDocstring(): void {}

/** See {@link Nowhere}. */
export type LinkedToNowhere = string;

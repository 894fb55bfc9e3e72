/** True only where two types are the same, `any` and `never` included. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only where the two types are the same: `same<Actual, Expected>(true)`. */
export declare function same<Actual, Expected>(isSame: Equal<Actual, Expected>): void;

/** Removes fields without a value, which responses do not contain. */

/** Fields that may be undefined are optional. */
export type WithoutUndefined<A> = {
  [K in keyof A as undefined extends A[K] ? never : K]: A[K]
} & {
  [K in keyof A as undefined extends A[K] ? K : never]?: Exclude<A[K], undefined>
}

export const withoutUndefined = <A extends object>(fields: A): WithoutUndefined<A> => {
  const kept: object = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return kept as WithoutUndefined<A>
}

/** Joins tables into one. A literal with a spread of a thousand keys takes a hundred times as long at every start of the program. */

type JoinedTables<Parts extends ReadonlyArray<object>> = Parts extends readonly [
  infer First,
  ...infer Rest extends ReadonlyArray<object>
]
  ? First & JoinedTables<Rest>
  : unknown

export const joinTables = <const Parts extends ReadonlyArray<object>>(...parts: Parts): JoinedTables<Parts> =>
  Object.assign({}, ...parts)

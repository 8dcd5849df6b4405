/**
 * Which statements have a name. Under a name each connection keeps a statement parsed and planned, which for small ones is most of
 * their cost, and for as long as it lives: so only what is asked often gets one, and only so many.
 */

export interface StatementNameLimits {
  readonly mostNames: number
  /** Statements without a name whose uses are counted; then all begin anew. */
  readonly mostCounted: number
  /** Longer ones are lists of rows, of which no two are alike. */
  readonly longestText: number
  /** A statement has its name from this use on. */
  readonly usesBefore: number
}

const usual: StatementNameLimits = { mostNames: 200, mostCounted: 1000, longestText: 4000, usesBefore: 5 }

/** Answers the name of a statement, the same each time, or that it has none. One for all connections of a pool. */
export const makeStatementNames = (limits: StatementNameLimits = usual): ((text: string) => string | undefined) => {
  const names = new Map<string, string>()
  const uses = new Map<string, number>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= limits.mostNames || text.length > limits.longestText) return known
    const used = (uses.get(text) ?? 0) + 1
    if (used < limits.usesBefore) {
      if (uses.size >= limits.mostCounted) uses.clear()
      uses.set(text, used)
      return undefined
    }
    uses.delete(text)
    const name = `aicr_${names.size}`
    names.set(text, name)
    return name
  }
}

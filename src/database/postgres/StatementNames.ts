/**
 * Decides which statements get a name. Each connection keeps a named statement parsed and planned for its lifetime, which for small ones is
 * most of their cost: so only frequent statements get a name, and their number is limited.
 */

interface StatementNameLimits {
  readonly maxNames: number
  /** Number of unnamed statements whose uses are counted; beyond it all counts restart. */
  readonly maxCounted: number
  /** Longer ones are lists of rows, which are rarely identical. */
  readonly longestText: number
  /** Number of uses after which a statement gets its name. */
  readonly usesBefore: number
}

const usual: StatementNameLimits = { maxNames: 200, maxCounted: 1000, longestText: 4000, usesBefore: 5 }

/** Returns a function that returns the name of a statement, always the same, or undefined. One for all connections of a pool. */
export const makeStatementNames = (limits: StatementNameLimits = usual): ((text: string) => string | undefined) => {
  const names = new Map<string, string>()
  const uses = new Map<string, number>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= limits.maxNames || text.length > limits.longestText) return known
    const used = (uses.get(text) ?? 0) + 1
    if (used < limits.usesBefore) {
      if (uses.size >= limits.maxCounted) uses.clear()
      uses.set(text, used)
      return undefined
    }
    uses.delete(text)
    const name = `aicr_${names.size}`
    names.set(text, name)
    return name
  }
}

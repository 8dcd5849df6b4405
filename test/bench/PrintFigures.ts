/** Prints figures of a benchmark, each with its goal. */

/** A goal as people read it, such as `at most 1.1`. */
export type Goals = Readonly<Record<string, string>>

export const printFigures = (figures: Readonly<Record<string, number>>, goals: Goals): void => {
  for (const [name, value] of Object.entries(figures)) {
    const goal = goals[name]
    process.stdout.write(`${name.padEnd(30)} ${String(value).padStart(8)}${goal === undefined ? "" : `   ${goal}`}\n`)
  }
}

/**
 * Lists fields that this build accepts but does not use. Setting one gives a warning. Every other field has a test that observes its effect
 * (test/mutate/fields.json).
 */
import type { Reason } from "../../domain/Reason.ts"

export interface Unconsumed {
  /** Path as in the reference, including everything below it. The global field includes layers of workspaces. */
  readonly path: string
  /** The effect that is missing. */
  readonly effect: Reason
}

const unconsumed: ReadonlyArray<Unconsumed> = [
  {
    path: "im.command_bindings.<id>.report_policy",
    effect: { _tag: "ReportsToRoutes" }
  }
]

const rows = new Map(unconsumed.map((row) => [row.path, row]))

const found = new Map<string, Unconsumed | undefined>()

/** Returns the row that covers a field, by its path in the reference. */
export const unconsumedAt = (path: string): Unconsumed | undefined => {
  if (!found.has(path)) found.set(path, findRow(path))
  return found.get(path)
}

const findRow = (path: string): Unconsumed | undefined => {
  const layered = path
    .replace(/^workspaces\.(?:defaults|instances\.<id>)\.(?=(?:agent|review|outputs)\b)/, "")
    .replace(
      /^workspaces\.instances\.<id>\.(?=(?:sandbox|triage|prompt|context_repositories|triage_model_chain|author_resolution_model_chain)\b)/,
      "workspaces.defaults."
    )
  return rows.get(layered)
}

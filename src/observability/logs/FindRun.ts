/** Finds the run that a line of log names, in its fields or in its annotations. */
import { References } from "effect"
import type { Logger } from "effect"

export const isRunId = (value: unknown): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= 64

const inFields = (message: unknown): unknown => {
  if (!Array.isArray(message)) return undefined
  const fields = message.find((part): part is { readonly run_id: unknown } => Object(part) === part && "run_id" in part)
  return fields?.run_id
}

/** Returns undefined for a line that names no run. */
export const findRun = (event: Logger.Options<unknown>): string | undefined => {
  const id = inFields(event.message) ?? event.fiber.getRef(References.CurrentLogAnnotations)["run_id"]
  return isRunId(id) ? id : undefined
}

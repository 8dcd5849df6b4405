/** Reads credentials of the document: a literal, or the name of an environment variable. */
import { Redacted } from "effect"
import { isRecord } from "./document/Path.ts"

export type Env = Readonly<Record<string, string | undefined>>

const given = (env: Env, name: string): string => (Object.hasOwn(env, name) ? (env[name] ?? "") : "")

/** Returns the variable's value; an empty one counts as unset, and so does white space. */
export const variable = (env: Env, name: string): string | undefined => {
  const value = given(env, name)
  return value.trim() === "" ? undefined : value
}

/** Returns whether the variable is set to white space, which is a mistake. */
export const isBlankVariable = (env: Env, name: string): boolean =>
  given(env, name) !== "" && variable(env, name) === undefined

/** Returns the literal field `name`, otherwise the variable that `<name>_env` names; undefined if neither is set. */
export const credential = (holder: object, name: string, env: Env): Redacted.Redacted | undefined => {
  if (!isRecord(holder)) return undefined
  const literal = holder[name]
  if (Redacted.isRedacted(literal)) {
    const value = Redacted.value(literal)
    return typeof value === "string" ? Redacted.make(value) : undefined
  }
  if (typeof literal === "string") return Redacted.make(literal)
  const variableName = holder[`${name}_env`]
  if (typeof variableName !== "string") return undefined
  const value = variable(env, variableName)
  return value === undefined ? undefined : Redacted.make(value)
}

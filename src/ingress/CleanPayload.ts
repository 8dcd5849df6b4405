/**
 * Removes credentials from the headers and the body of a delivery before it is stored: values of the configuration, fields that are named like
 * a credential, and texts that have the form of one. Pure. A body that is JSON stays JSON.
 */
import { censored, isCredentialName, redactForms, redactValues } from "../observability/Redaction.ts"
import { toStorable, truncate } from "../domain/Text.ts"

const maxHeaders = 100
const maxHeaderLength = 1024
const credentialHeader = /signature|token|secret|authorization|cookie|api-?key|password/i

type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

export const cleanHeaders = (headers: Headers, credentials: ReadonlyArray<string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, maxHeaders)
      .flatMap(([name, value]) => {
        if (typeof value !== "string") return []
        const text = truncate(toStorable(value), maxHeaderLength)
        return [[name, credentialHeader.test(name) ? censored : redactForms(redactValues(text, credentials))] as const]
      })
  )

type Clean = (text: string) => string

/** A field without an own name, such as an item of a list, has that of its list. */
const cleanValue = (value: unknown, name: string, clean: Clean): unknown => {
  if (typeof value === "string") return value !== "" && isCredentialName(name) ? censored : clean(value)
  if (Array.isArray(value)) return value.map((item) => cleanValue(item, name, clean))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [clean(key), cleanValue(inner, key, clean)] as const)
  )
}

/** Cleans a form without decoding what is not a credential. */
const cleanForm = (body: string, clean: Clean): string => {
  const form = new URLSearchParams(body)
  return new URLSearchParams(
    [...form].map(([name, value]) => [name, isCredentialName(name) ? censored : clean(value)] as [string, string])
  ).toString()
}

/** Deeper bodies are refused by the parsers of deliveries. */
const maxDepth = 200

const isDeep = (value: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []))
  }
  return false
}

export const cleanBody = (
  body: string,
  contentType: string | undefined,
  credentials: ReadonlyArray<string>
): string => {
  const clean: Clean = (text) => redactForms(redactValues(text, credentials))
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    const text = toStorable(body)
    return contentType?.trim().toLowerCase().startsWith("application/x-www-form-urlencoded") === true
      ? cleanForm(text, clean)
      : clean(text)
  }
  return isDeep(value) ? censored : toStorable(JSON.stringify(cleanValue(value, "", clean)))
}

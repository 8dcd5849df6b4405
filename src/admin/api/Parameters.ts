/** Defines parameters that several endpoints share. */
import { Schema, SchemaTransformation } from "effect"

/** Maximum number of items of a page. */
const maxPage = 200
const defaultPage = 50

const expectedPage = `expected 1 to ${maxPage}`

/** A positive integer of at most 15 digits, written in decimal. */
const integer = (description: string, message: string, maximum: number) =>
  Schema.String.annotate({ description })
    .check(Schema.isPattern(/^[1-9]\d{0,14}$/, { message }))
    .pipe(
      Schema.decodeTo(
        Schema.Int.check(Schema.isLessThanOrEqualTo(maximum, { message })),
        SchemaTransformation.transform({
          decode: (text: string) => Number(text),
          encode: (value: number) => `${value}`
        })
      )
    )

export const text = (description: string) =>
  Schema.String.annotate({ description }).check(Schema.isMaxLength(512, { message: "expected at most 512 characters" }))

export const positive = (description: string) =>
  integer(description, "expected a positive integer", 999_999_999_999_999)

/** Number of a pull request or issue. */
export const number = positive("Number of the pull request or issue")

/** A time, kept as the text that was given. */
export const time = (description: string) =>
  Schema.String.annotate({ description }).check(
    Schema.makeFilter((value: string) =>
      /^\d{4}-\d{2}-\d{2}(?:T|$)/.test(value) && !Number.isNaN(Date.parse(value))
        ? undefined
        : "expected a time in ISO 8601, such as 2026-03-04T12:00:00Z"
    )
  )

export const allowOne = <const A extends string>(
  { literals }: Schema.Literals<ReadonlyArray<A>>,
  description: string
) => Schema.Literals(literals).annotate({ description, message: `expected one of ${literals.join(", ")}` })

/** Parameter `sort` of a list with these keys, each in both directions. */
export const sorting = <const A extends string>(keys: ReadonlyArray<A>, standard: A | `-${A}`) => {
  const both = keys.flatMap((key): ReadonlyArray<A | `-${A}`> => [key, `-${key}`])
  return Schema.optionalKey(
    allowOne(
      Schema.Literals(both),
      `Order: ${keys.join(", ")}; with a minus sign before it, from the largest to the smallest. Default ${standard}`
    )
  )
}

/** Several values separated by commas, or `all`. */
export const allowSeveral = ({ literals }: Schema.Literals<ReadonlyArray<string>>, description: string) =>
  Schema.String.annotate({ description }).check(
    Schema.makeFilter((value: string) =>
      value === "all" || value.split(",").every((part) => literals.includes(part.trim()))
        ? undefined
        : `expected ${literals.join(", ")}, several of them separated by commas, or all`
    )
  )

/** Returns the values that a parameter of `allowSeveral` names. */
export const selected = <A extends string>(
  { literals }: Schema.Literals<ReadonlyArray<A>>,
  value: string
): ReadonlyArray<A> => {
  const parts = value.split(",").map((part) => part.trim())
  return value === "all" ? literals : literals.filter((literal) => parts.includes(literal))
}

export const workspace = Schema.optionalKey(text("Id of a workspace"))

/** Words that a record is searched for. */
export const searched = Schema.optionalKey(
  text(
    "Words, each of them a part of the repository with its number, the commit, the workspace, the author, a branch or the title; a page may be short, or empty, and still have a next one"
  )
)

/** Parameters of a list. */
export const paging = {
  cursor: Schema.optionalKey(text("`next_cursor` of the previous page")),
  limit: Schema.optionalKey(integer(`Number of items, 1 to ${maxPage}; default ${defaultPage}`, expectedPage, maxPage))
}

export const pageSize = (query: { readonly limit?: number }): number => query.limit ?? defaultPage

/** One page of a list. */
export const page = <Item extends Schema.Top>(item: Item) => ({
  items: Schema.Array(item),
  next_cursor: Schema.NullOr(Schema.String).annotate({
    description: "Value of `cursor` for the next page; null on the last one"
  })
})

/** Parameter `:id` of a path. */
export const byId = {
  id: Schema.String.annotate({ description: "Id of the record" }).check(
    Schema.isPattern(/^[\w.:~-]{1,128}$/, { message: "expected an id of at most 128 characters" })
  )
}

/** A field of a body with 1 to 1024 characters. */
export const bodyText = (description: string) =>
  Schema.String.annotate({ description }).check(
    Schema.isNonEmpty({ message: "expected a text of 1 to 1024 characters" }),
    Schema.isMaxLength(1024, { message: "expected a text of 1 to 1024 characters" })
  )

/** Builds responses of the administration: JSON that must not be cached, and problem details (RFC 9457) with a machine-readable `code`. */
import { Schema } from "effect"
import type { AdminResponse } from "./AdminApi.ts"

const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

export const json = (status: number, body: unknown): AdminResponse => ({
  status,
  contentType: "application/json",
  body: JSON.stringify(body),
  headers
})

export const nothing: AdminResponse = { status: 204, contentType: "application/json", body: "", headers }

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable"
}

/** Ends a request with an error response. */
export class AdminRefusal extends Schema.TaggedError<AdminRefusal>()("AdminRefusal", {
  status: Schema.Int,
  code: Schema.String,
  detail: Schema.String,
  issues: Schema.optional(Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))),
  headers: Schema.optional(Schema.Record(Schema.String, Schema.String))
}) {}

export const problem = ({ code, detail, headers: more, issues, status }: AdminRefusal): AdminResponse => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({
    type: "about:blank",
    title: titles[status],
    status,
    code,
    detail,
    ...(issues === undefined ? {} : { issues })
  }),
  headers: { ...headers, ...more }
})

export const notFound = (what: string): AdminRefusal =>
  new AdminRefusal({ status: 404, code: "not_found", detail: what })

export const conflict = (code: string, detail: string): AdminRefusal => new AdminRefusal({ status: 409, code, detail })

/** Formats a time for people and programs. */
export const time = (millis: number | undefined): string | undefined =>
  millis === undefined ? undefined : new Date(millis).toISOString()

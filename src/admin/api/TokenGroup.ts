/** Defines the endpoints of tokens, with which programs use the service in place of a person. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AccessRole } from "../../domain/AccessRole.ts"
import { ServiceToken, TokenScope } from "../../domain/ServiceToken.ts"
import { describe } from "./Describe.ts"
import { text } from "./Fields.ts"
import { byId } from "./Parameters.ts"
import { NotFound, StateConflict } from "./Problems.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"
import { shown } from "./Shown.ts"

/** Life of a token in days: by default, and at most. */
const defaultDays = 90
const maxDays = 366
const maxRepositories = 100

export const serviceToken = shown(ServiceToken, {
  id: "Id, ordered by time",
  name: "Name",
  scopes: "`read`: reviews and findings; `dispute`: objections to findings",
  repositories: "Keys of repositories, such as `main:acme/app`; empty: every repository",
  role: "Role at the administration; absent: it reaches no other path of it",
  createdBy: "User who created it",
  createdAt: "Time of its creation",
  expiresAt: "End of its validity",
  revokedAt: "Time of its revocation",
  lastUsedAt: "Time of its last use, to the hour"
})
const TokenRecord = Schema.Struct(serviceToken.fields).annotate({
  identifier: "ServiceToken",
  description: "A token of a program, without its text"
})

export type TokenRecord = typeof TokenRecord.Type

const NewToken = Schema.Struct({
  name: Schema.String.annotate({ description: "Name: letters, digits, dots, dashes and underscores" }).check(
    Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
      message: "expected 1 to 64 letters, digits, dots, dashes and underscores"
    })
  ),
  scopes: Schema.Array(TokenScope)
    .annotate({
      description: "Rights of a coding agent; no right includes another one. May be empty if there is a role"
    })
    .check(Schema.isMaxLength(8, { message: "expected at most 8 scopes" })),
  role: Schema.optionalKey(AccessRole).annotateKey({
    description: "Role at the administration, for every repository. Default: none"
  }),
  repositories: Schema.optionalKey(
    Schema.Array(
      Schema.String.check(
        Schema.isPattern(/^[^\s:/]{1,128}:[^\s:]{1,256}$/, { message: "expected TRIGGER:OWNER/NAME" })
      )
    ).check(Schema.isMaxLength(maxRepositories, { message: `expected at most ${maxRepositories} repositories` }))
  ).annotateKey({ description: "Repositories, each with its trigger: `main:acme/app`. Default: every repository" }),
  expires_days: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxDays }, { message: `expected 1 to ${maxDays} days` }))
  ).annotateKey({ description: `Days until it expires, 1 to ${maxDays}; default ${defaultDays}` })
}).annotate({ identifier: "NewServiceToken" })
export type NewToken = typeof NewToken.Type

export const readDays = ({ expires_days: days = defaultDays }: NewToken): number => days

export class TokenGroup extends HttpApiGroup.make("tokens")
  .add(
    HttpApiEndpoint.get("list", "/tokens", {
      success: Schema.Struct({ items: Schema.Array(TokenRecord) })
    }).annotateMerge(
      describe(
        "List tokens",
        "Lists tokens of programs, newest first, at most 1000. Tokens that expired or were revoked are removed after 90 days."
      )
    ),
    HttpApiEndpoint.post("create", "/tokens", {
      payload: NewToken,
      success: Schema.Struct({
        token: text("Text of the token. It is returned once, and not stored"),
        ...serviceToken.fields
      }).pipe(HttpApiSchema.status(201)),
      error: StateConflict
    }).annotateMerge(
      describe(
        "Create a token",
        "Returns a token that a program sends as `authorization: Bearer …` to `/mcp`, or to `/api/verdicts/statement`; with a role to the administration."
      )
    ),
    HttpApiEndpoint.post("revoke", "/tokens/:id/revoke", {
      params: byId,
      success: TokenRecord,
      error: NotFound
    }).annotateMerge(
      describe("Revoke a token", "Ends a token on all nodes, from the next request on. May be repeated.")
    )
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Tokens", description: "Access of programs" })) {}

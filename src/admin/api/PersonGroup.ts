/** Defines the endpoints that erase a person: a preview, and the erasure of what it shows. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { personFamilies } from "../../store/PersonRecords.ts"
import { describe } from "./Describe.ts"
import { count, reason, text } from "./Fields.ts"
import { StateConflict } from "./Problems.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"

/** Kinds of records: those of the store, and the entries of the queue. */
export const personKinds = [...personFamilies, "entries"] as const
export type PersonKind = (typeof personKinds)[number]

const person = text(
  "`TRIGGER:LOGIN` for an account at a host, `slack_user:ID` or another kind of chat principal, or `administrator:NAME`"
).check(Schema.isMaxLength(400, { message: "expected at most 400 characters" }))

const PersonErasure = Schema.Struct({
  digest: text("Digest of the person and of the numbers of records, which confirms the erasure"),
  found: Schema.Array(
    Schema.Struct({
      kind: Schema.Literals(personKinds).annotate({ description: "Kind of the records" }),
      count: count("Number of records that are, or would be, changed or removed"),
      what: reason("What becomes of them")
    })
  ).annotate({ description: "Kinds with at least one record" }),
  unfinished: count(
    "Number of records of work that has not ended. They are not changed: repeat the request afterwards"
  ),
  comments: Schema.Array(Schema.String).annotate({
    description: "Addresses of comments of the service about changes of the person, which stay at the host, at most 50"
  }),
  remains: Schema.Array(reason("What stays, and where"))
}).annotate({ identifier: "PersonErasure", description: "Records of a person that are, or would be, erased" })
export type PersonErasure = typeof PersonErasure.Type

export class PersonGroup extends HttpApiGroup.make("people")
  .add(
    HttpApiEndpoint.post("preview", "/people/preview", {
      payload: Schema.Struct({ person }),
      success: PersonErasure
    }).annotateMerge(
      describe(
        "Preview the erasure of a person",
        "Counts the records that hold the name or texts of a person, and changes nothing. It reads every record, which takes some seconds per 100,000 reviews."
      )
    ),
    HttpApiEndpoint.post("erase", "/people/erase", {
      payload: Schema.Struct({ person, digest: text("Digest of the preview") }),
      success: PersonErasure,
      error: StateConflict
    }).annotateMerge(
      describe(
        "Erase a person",
        "Replaces the name and the texts of a person in all records of work that has ended, and removes prompts, bodies and logs. The digest must be that of a preview whose numbers are still right. May be repeated: after an interruption a repetition does the rest."
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "People", description: "Erasure of the texts of one person" })) {}

/** Defines the endpoints of signed statements. They are also at `/api/verdicts`. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { describe } from "./Describe.ts"
import { text as field, time } from "./Fields.ts"
import { number, text } from "./Parameters.ts"
import { NotFound, UnavailableResponse } from "./Problems.ts"
import { ReadsVerdicts, ValidRequest } from "./Rules.ts"

const VerdictKey = Schema.Struct({
  keyid: field("SHA-256 of the key, by which statements name it"),
  public_key: field("Public Ed25519 key, in PEM"),
  since: time("Time from which it signed"),
  status: Schema.Literals(["present", "retired"]).annotate({ description: "Whether it signs now" })
}).annotate({ identifier: "VerdictKey", description: "A key that signs statements, or did" })

export class VerdictKeyGroup extends HttpApiGroup.make("verdictKeys")
  .add(
    HttpApiEndpoint.get("list", "/verdicts/key", {
      success: Schema.Struct({ items: Schema.Array(VerdictKey) }),
      error: UnavailableResponse
    }).annotateMerge(
      describe("List keys of statements", "Returns the public keys that sign statements or did. Needs no login.")
    )
  )
  .middleware(ValidRequest)
  .annotateMerge(OpenApi.annotations({ title: "Keys of statements", description: "Public keys" })) {}

export class VerdictGroup extends HttpApiGroup.make("verdicts")
  .add(
    HttpApiEndpoint.get("statement", "/verdicts/statement", {
      query: {
        run: Schema.optionalKey(text("Id of the run")),
        head: Schema.optionalKey(
          text("Full id of the commit, with `repository`, or with `run` once the details of the run are removed")
        ),
        repository: Schema.optionalKey(text("Full name of the repository, OWNER/NAME")),
        number: Schema.optionalKey(number),
        base: Schema.optionalKey(text("Branch that the commit is to be merged into"))
      },
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "application/vnd.dsse.envelope.v1+json" })),
      error: NotFound
    }).annotateMerge(
      describe(
        "Get a statement",
        "Returns the newest signed statement of a run, or of a commit of a repository, byte by byte as it was signed. `aicr verify` verifies it. With a session, or with a token of the scope `read`."
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(ReadsVerdicts)
  .annotateMerge(OpenApi.annotations({ title: "Statements", description: "Signed statements of verdicts" })) {}

/** Defines the endpoint of reviewed changes: pull requests, branches and issues. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { RunStatus } from "../../domain/Run.ts"
import { describe } from "./Describe.ts"
import { allowSeveral, number, page, paging, searched, sorting, text, time, workspace } from "./Parameters.ts"
import { Authenticated, ValidRequest } from "./Rules.ts"
import { ReviewedChange } from "./RunRecords.ts"

export class ChangeGroup extends HttpApiGroup.make("changes")
  .add(
    HttpApiEndpoint.get("list", "/changes", {
      query: {
        workspace,
        q: searched,
        status: Schema.optionalKey(allowSeveral(RunStatus, "Statuses of the newest run, separated by commas, or all")),
        repo: Schema.optionalKey(text("Full name of the repository, OWNER/NAME")),
        number: Schema.optionalKey(number),
        trigger: Schema.optionalKey(text("Name of the trigger")),
        since: Schema.optionalKey(time("Earliest creation of the newest run, in ISO 8601")),
        until: Schema.optionalKey(time("Time before which the newest run was created, in ISO 8601")),
        sort: sorting(["created"], "-created"),
        ...paging
      },
      success: Schema.Struct(page(ReviewedChange))
    }).annotateMerge(
      describe(
        "List reviewed changes",
        "Lists pull requests, branches and issues with their newest runs, those that were reviewed last first. `sort=created`: by the creation of their newest runs, oldest first."
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Changes", description: "Pull requests, branches and issues" })) {}

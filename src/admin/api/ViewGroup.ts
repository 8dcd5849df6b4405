/** Defines the endpoints of saved views: lists with filters, which a person keeps under a name. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { maxViews, SavedView } from "../../store/SavedViews.ts"
import { describe } from "./Describe.ts"
import { byId } from "./Parameters.ts"
import { NotFound, StateConflict } from "./Problems.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"
import { shown } from "./Shown.ts"

/** Pages with lists whose filters are part of their addresses. */
const ViewPage = Schema.Literals(["/changes", "/deliveries", "/runs", "/queue", "/projects", "/rules", "/audit"])

const limited = (description: string, least: number, most: number) =>
  Schema.String.annotate({ description }).check(
    Schema.makeFilter((text: string) =>
      text.trim().length >= least && text.length <= most
        ? undefined
        : `expected a text of ${least} to ${most} characters`
    )
  )

export const NewView = Schema.Struct({
  page: ViewPage.annotate({ description: "Path of the page below the dashboard" }),
  name: limited("Name; a view of the same page and name is replaced", 1, 80),
  query: limited("Filters, as in the address of the page, without the question mark", 0, 2000)
}).annotate({ identifier: "NewView", description: "A view to save" })
export type NewView = typeof NewView.Type

export const view = shown(SavedView, {
  id: "Id",
  page: "Path of the page below the dashboard",
  name: "Name",
  query: "Filters, as in the address of the page",
  savedAt: "Time at which it was saved"
})
const View = Schema.Struct(view.fields).annotate({ identifier: "View", description: "A saved view" })

export class ViewGroup extends HttpApiGroup.make("views")
  .add(
    HttpApiEndpoint.get("list", "/views", { success: Schema.Struct({ items: Schema.Array(View) }) }).annotateMerge(
      describe(
        "List views",
        "Lists the views of the user by page and name. Nobody else gets them, and programs have none."
      )
    ),
    HttpApiEndpoint.post("save", "/views", { payload: NewView, success: View, error: StateConflict }).annotateMerge(
      describe("Save a view", `Saves a view of the user, at most ${maxViews}.`)
    ),
    HttpApiEndpoint.delete("remove", "/views/:id", {
      params: byId,
      success: HttpApiSchema.NoContent,
      error: NotFound
    }).annotateMerge(describe("Delete a view", "Deletes a view of the user."))
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Views", description: "Saved views of a person" })) {}

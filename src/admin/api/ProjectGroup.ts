/** Defines the endpoints of projects: repositories in workspaces, for which statistics are kept. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Project, projectValues } from "../../store/Statistics.ts"
import { describe } from "./Describe.ts"
import { Severity } from "../../domain/Kinds.ts"
import { count } from "./Fields.ts"
import { allowOne, bodyText, byId, page, paging, sorting, text, workspace } from "./Parameters.ts"
import { NotFound } from "./Problems.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"
import { shown } from "./Shown.ts"

export const project = shown(Project, {
  id: "Id, ordered by time",
  workspace: "Id of the workspace",
  trigger: "Trigger profile of the host",
  repository: "Full name of the repository",
  createdAt: "End of its first run",
  lastRunAt: "End of its newest run",
  deletedAt: "Time of its deletion; it is removed with its statistics after the grace period",
  deletedBy: "User who deleted it; absent if its workspace or trigger is not configured any more"
})
const ProjectRecord = Schema.Struct(project.fields).annotate({
  identifier: "ProjectRecord",
  description: "A repository in a workspace"
})

const repository = bodyText("Repository, TRIGGER:OWNER/NAME")

const AcceptedKind = Schema.Struct({
  category: text("Category"),
  severity: Severity,
  model: text("Model that reported the findings, as provider/model"),
  judged: count("Number of the newest findings that maintainers accepted or not"),
  accepted: count("Number of accepted ones"),
  share: Schema.Finite.annotate({ description: "Estimated share of accepted findings, 0 to 1" }),
  folded: Schema.Boolean.annotate({ description: "Whether its findings are listed folded in the summary" })
}).annotate({
  identifier: "AcceptedKind",
  description: "Findings of a category and severity, and how many are accepted"
})

const AcceptedKinds = Schema.Struct({
  floor: Schema.Finite.annotate({ description: "`review.acceptance_floor` of the workspace; 0: nothing is folded" }),
  items: Schema.Array(AcceptedKind)
})

export class ProjectGroup extends HttpApiGroup.make("projects")
  .add(
    HttpApiEndpoint.get("list", "/projects", {
      query: {
        workspace,
        repo: Schema.optionalKey(text("Full name of the repository, OWNER/NAME")),
        deleted: Schema.optionalKey(allowOne(Schema.Literals(["true", "false"]), "Whether it is deleted")),
        sort: sorting(["created", ...projectValues], "-created"),
        ...paging
      },
      success: Schema.Struct(page(ProjectRecord))
    }).annotateMerge(
      describe("List projects", "Lists projects, those created last first unless `sort` names another order.")
    ),
    HttpApiEndpoint.delete("remove", "/projects/:id", {
      params: byId,
      success: ProjectRecord,
      error: NotFound
    }).annotateMerge(
      describe(
        "Delete a project",
        "Marks a project. It is removed with its statistics after `storage.retention.deleted_project_grace_days`; a run of it before restores it."
      )
    ),
    HttpApiEndpoint.post("restore", "/projects/:id/restore", {
      params: byId,
      success: ProjectRecord,
      error: NotFound
    }).annotateMerge(describe("Restore a project", "Removes the mark of a deleted project."))
  )
  .add(
    HttpApiEndpoint.get("acceptance", "/acceptance", {
      query: { workspace: text("Id of a workspace"), name: text("Repository, TRIGGER:OWNER/NAME") },
      success: AcceptedKinds,
      error: NotFound
    }).annotateMerge(
      describe(
        "List accepted kinds of findings",
        "Lists which share of findings maintainers of a repository accept, by category, severity and model, and which kinds are folded in the workspace."
      )
    ),
    HttpApiEndpoint.post("forget", "/acceptance/reset", {
      payload: Schema.Struct({
        name: repository,
        category: Schema.optionalKey(bodyText("Category; default: all"))
      }),
      success: Schema.Struct({ forgotten: count("Number of findings that counted until now") })
    }).annotateMerge(
      describe(
        "Reset acceptance",
        "What became of findings of a repository until now counts no longer, so that their kinds are shown. The outcomes of the findings stay."
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Projects", description: "Repositories in workspaces" })) {}

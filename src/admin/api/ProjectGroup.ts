/** Defines the endpoints of projects: repositories in workspaces, for which statistics are kept. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Project, projectValues } from "../../store/Statistics.ts"
import { describe } from "./Describe.ts"
import { allowOne, byId, page, paging, sorting, text, workspace } from "./Parameters.ts"
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
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Projects", description: "Repositories in workspaces" })) {}

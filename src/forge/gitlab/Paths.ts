/** Paths and parameters for a project and a merge request of GitLab. */
import type { Repo } from "../../domain/Change.ts"

export const projectPath = "/projects/{id}"
export const mergeRequestPath = "/projects/{id}/merge_requests/{merge_request_iid}"

/** Uses the path, because the numeric id in a payload might belong to another project. */
export const projectId = (repo: Repo): string => repo.fullName

export const mergeRequest = (repo: Repo, number: number) => ({ id: projectId(repo), merge_request_iid: number })

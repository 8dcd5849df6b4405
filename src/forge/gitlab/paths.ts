/** How GitLab addresses a project and a merge request. */
import type { Repo } from "../../domain/Change.ts"

export const projectPath = "/projects/{id}"
export const mergeRequestPath = "/projects/{id}/merge_requests/{merge_request_iid}"

/** By path: the numeric id of a payload might be another project's than its path. */
export const projectId = (repo: Repo): string => repo.fullName

export const mergeRequest = (repo: Repo, number: number) => ({ id: projectId(repo), merge_request_iid: number })

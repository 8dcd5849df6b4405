/** State that the reading tools of one conversation share: the reviewed revision, further repositories, and the allowance for both. */
import type { ReviewConfig } from "../../config/schema/Review.ts"
import type { Checkout } from "../../vcs/Checkout.ts"
import type { MountedContext } from "../../vcs/ContextRepositories.ts"
import type { CodeSearch } from "../CodeSearch.ts"
import { ContextAllowance } from "./ContextAllowance.ts"

export interface RepositoryReader {
  readonly checkout: Checkout
  readonly code: CodeSearch
  readonly allowance: ContextAllowance
}

export const repositoryReader = (
  checkout: Checkout,
  code: CodeSearch,
  limits: ReviewConfig["fetch_extra"],
  context: ReadonlyArray<MountedContext> = []
): RepositoryReader => ({ checkout, code, allowance: new ContextAllowance(checkout, limits, context) })

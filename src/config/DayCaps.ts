/** The caps of `llm.budget` for a UTC day, by whose budget it is. Pure. */
export interface DailyCaps {
  readonly per_author_daily_usd?: number | undefined
  readonly per_repo_daily_usd?: number | undefined
  readonly per_team_daily_usd?: number | undefined
}

export const dayCaps = (budget: DailyCaps) => ({
  repository: budget.per_repo_daily_usd,
  author: budget.per_author_daily_usd,
  team: budget.per_team_daily_usd
})

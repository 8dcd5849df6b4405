/** The caps of `llm.budget` for a UTC day, by whose budget it is. Pure. */
export interface DailyCaps<A extends number = number> {
  readonly per_author_daily_usd?: A | undefined
  readonly per_repo_daily_usd?: A | undefined
  readonly per_team_daily_usd?: A | undefined
  readonly team_daily_usd?: Readonly<Record<string, A>> | undefined
}

/** Returns the cap of a team, and whether it is its own. */
export const teamCap = <A extends number>(
  { per_team_daily_usd: common, team_daily_usd: own = {} }: DailyCaps<A>,
  team: string | undefined
): { readonly usd: A | undefined; readonly isOwn: boolean } =>
  team !== undefined && Object.hasOwn(own, team) ? { usd: own[team], isOwn: true } : { usd: common, isOwn: false }

/** Returns the cap of one repository, author or team. */
export const dayCap = (budget: DailyCaps, kind: "author" | "repository" | "team", name: string): number | undefined => {
  if (kind === "team") return teamCap(budget, name).usd
  return kind === "author" ? budget.per_author_daily_usd : budget.per_repo_daily_usd
}

/** Returns whether any account of a day has a cap. */
export const hasDayCap = ({
  per_author_daily_usd: author,
  per_repo_daily_usd: repository,
  per_team_daily_usd: team,
  team_daily_usd: teams = {}
}: DailyCaps): boolean => [author, repository, team].some((cap) => cap !== undefined) || Object.keys(teams).length > 0

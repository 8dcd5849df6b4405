/** Validates five-field cron expressions of `triggers[].cron`. */
import { Cron, Result } from "effect"
import { checked } from "../Scalars.ts"

export const CronExpression = checked(
  "a cron expression of five fields such as `0 3 * * 1-5`",
  "cron",
  (value) => value.trim().split(/\s+/).length === 5 && Result.isSuccess(Cron.parse(value))
)

/** Validates five-field cron expressions of `triggers[].cron`. */
import { Cron, Result } from "effect"
import { checked } from "../fields/Scalars.ts"

export const CronExpression = checked(
  { _tag: "CronForm" },
  "cron",
  (value) => value.trim().split(/\s+/).length === 5 && Result.isSuccess(Cron.parse(value))
)

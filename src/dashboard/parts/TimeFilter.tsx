/** The period of a list: recent ones by name, others by their first and last day. It is part of the address. */
import { useState } from "react"
import { t } from "../text/T.ts"
import { useFilters } from "./Filters.tsx"
import { useNow } from "./Time.tsx"

const hourMillis = 3_600_000
const dayMillis = 24 * hourMillis

/** Hours of the periods that are offered by name. */
const periods = { day: 24, week: 168, month: 720 } as const

/** Day of a time in the zone of the user, as an input for days has it. */
const toDay = (at: string): string => {
  const date = new Date(at)
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
  return parts.map((part) => String(part).padStart(2, "0")).join("-")
}

const fromDay = (day: string, laterMillis = 0): string | undefined =>
  day === "" ? undefined : new Date(new Date(`${day}T00:00`).getTime() + laterMillis).toISOString()

export const TimeFilter = () => {
  const [{ since, until }, setFilters] = useFilters()
  const [isChosen, setChosen] = useState(false)
  const now = useNow()
  const isOpen = isChosen || since !== undefined || until !== undefined
  const choose = (value: string) => {
    setChosen(value === "days")
    const period = Object.entries(periods).find(([name]) => name === value)
    if (period !== undefined)
      // Whole hours, so that a period that is chosen twice is the same list.
      setFilters({
        since: new Date(Math.floor(now / hourMillis - period[1]) * hourMillis).toISOString(),
        until: undefined
      })
    else if (value === "") setFilters({ since: undefined, until: undefined })
  }
  return (
    <>
      <label className="filter">
        <span>{t("filter.time")}</span>
        <select value={isOpen ? "days" : ""} onChange={(event) => choose(event.target.value)}>
          <option value="">{t("filter.time.any")}</option>
          {Object.keys(periods).map((name) => (
            <option key={name} value={name}>
              {t(name === "day" ? "filter.time.day" : name === "week" ? "filter.time.week" : "filter.time.month")}
            </option>
          ))}
          <option value="days">{t("filter.time.days")}</option>
        </select>
      </label>
      {isOpen ? (
        <>
          <label className="filter">
            <span>{t("filter.since")}</span>
            <input
              type="date"
              value={since === undefined ? "" : toDay(since)}
              onChange={(event) => setFilters({ since: fromDay(event.target.value) })}
            />
          </label>
          <label className="filter">
            <span>{t("filter.until")}</span>
            <input
              type="date"
              value={until === undefined ? "" : toDay(new Date(new Date(until).getTime() - 1).toISOString())}
              onChange={(event) => setFilters({ until: fromDay(event.target.value, dayMillis) })}
            />
          </label>
        </>
      ) : null}
    </>
  )
}

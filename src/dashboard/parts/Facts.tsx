/** Pairs of a name and a value, a link to another site, and a value that can be copied. */
import { useState } from "react"
import type { ReactNode } from "react"
import { t } from "../text/T.ts"
import { isWebAddress } from "./WebAddress.ts"

type Fact = readonly [name: string, value: ReactNode] | undefined | false

export const Facts = ({ items }: { readonly items: ReadonlyArray<Fact> }) => (
  <dl className="facts">
    {items.map((item) =>
      item === undefined || item === false || item[1] === undefined || item[1] === "" ? null : (
        <div key={item[0]}>
          <dt>{item[0]}</dt>
          <dd>{item[1]}</dd>
        </div>
      )
    )}
  </dl>
)

export const ExternalLink = ({ children, href }: { readonly href: string | undefined; readonly children: ReactNode }) =>
  href === undefined || !isWebAddress(href) ? (
    <span>{children}</span>
  ) : (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
      <span className="out" aria-hidden="true">
        ↗
      </span>
    </a>
  )

export const Copy = ({ shown, value }: { readonly value: string; readonly shown?: ReactNode }) => {
  const [isCopied, setCopied] = useState(false)
  const copy = () => {
    void navigator.clipboard.writeText(value).then(() => setCopied(true))
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <span className="copy">
      <code>{shown ?? value}</code>
      <button
        type="button"
        className="ghost small"
        onClick={copy}
        aria-label={`${t("action.copy")}: ${value.slice(0, 60)}`}
      >
        {isCopied ? t("action.copied") : t("action.copy")}
      </button>
    </span>
  )
}

/** The mark: a W of heartbeats. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <path d="M7.5 8v16M11.75 15v9M16 11.5v12.5M20.25 15v9M24.5 8v16" stroke="var(--on-accent)" strokeWidth="2.6" strokeLinecap="round" />
    </svg>
  );
}

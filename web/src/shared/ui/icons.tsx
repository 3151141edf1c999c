/** Line icons on a 16-pixel grid. They illustrate words and are hidden from screen readers. */
import type { ReactNode } from "react";

function icon(drawing: ReactNode) {
  return function Icon({ size = 16 }: { size?: number }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth={1.5}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        focusable="false"
      >
        {drawing}
      </svg>
    );
  };
}

export const Pulse = icon(<path d="M1.5 8.5h3l2-5 3 9 2-4h3" />);
export const Bell = icon(<path d="M4 6.5a4 4 0 0 1 8 0c0 3.5 1.5 4.5 1.5 4.5h-11S4 10 4 6.5M6.75 13.5a1.5 1.5 0 0 0 2.5 0" />);
export const BellOff = icon(
  <path d="M2 2l12 12M4.5 4.6C3.6 6.6 4.6 9 2.5 11H11M6.3 3A4 4 0 0 1 12 6.5c0 1.6.3 2.7.7 3.4M6.75 13.5a1.5 1.5 0 0 0 2.5 0" />,
);
export const People = icon(
  <>
    <circle cx="6" cy="5.5" r="2.5" />
    <path d="M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 3.25a2.5 2.5 0 0 1 0 4.5M12 9.75c1.5.5 2.5 1.75 2.5 3.75" />
  </>,
);
export const Gear = icon(
  <>
    <circle cx="8" cy="8" r="2.25" />
    <path d="M8 1.5v1.75M8 12.75v1.75M14.5 8h-1.75M3.25 8H1.5M12.6 3.4l-1.24 1.24M4.64 11.36 3.4 12.6M12.6 12.6l-1.24-1.24M4.64 4.64 3.4 3.4" />
  </>,
);
export const Plus = icon(<path d="M8 3v10M3 8h10" />);
export const Search = icon(
  <>
    <circle cx="7" cy="7" r="4.25" />
    <path d="m10.25 10.25 3.25 3.25" />
  </>,
);
export const More = icon(
  <g fill="currentColor" stroke="none">
    <circle cx="3.5" cy="8" r="1.25" />
    <circle cx="8" cy="8" r="1.25" />
    <circle cx="12.5" cy="8" r="1.25" />
  </g>,
);
export const Copy = icon(
  <>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
    <path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5" />
  </>,
);
/** Who is on call. */
export const Watch = icon(
  <>
    <circle cx="8" cy="8" r="6" />
    <path d="M8 4.5V8l2.5 1.5" />
  </>,
);
export const Check = icon(<path d="m3 8.5 3.25 3.25L13 4.75" />);
export const Cross = icon(<path d="m4 4 8 8M12 4l-8 8" />);
export const Pause = icon(<path d="M5.5 3.5v9M10.5 3.5v9" />);
export const Play = icon(<path d="M5 3.25v9.5l7.5-4.75z" />);
export const Pencil = icon(
  <path d="m2.5 13.5.75-3.25 7.5-7.5a1.25 1.25 0 0 1 1.75 0l.75.75a1.25 1.25 0 0 1 0 1.75l-7.5 7.5zM9.5 4l2.5 2.5" />,
);
export const Duplicate = icon(
  <>
    <rect x="2.5" y="2.5" width="8" height="8" rx="1.5" />
    <path d="M13.5 5.5v6.5a1.5 1.5 0 0 1-1.5 1.5H5.5" />
  </>,
);
export const Trash = icon(
  <path d="M2.5 4.5h11M6 4.5V3a.75.75 0 0 1 .75-.75h2.5A.75.75 0 0 1 10 3v1.5M4 4.5l.6 8.1a1 1 0 0 0 1 .9h4.8a1 1 0 0 0 1-.9l.6-8.1" />,
);
export const Refresh = icon(<path d="M13.25 8A5.25 5.25 0 1 1 11.5 4.1M13.25 2.5v2.75H10.5" />);
export const Out = icon(<path d="M6.5 2.5H4A1.5 1.5 0 0 0 2.5 4v8A1.5 1.5 0 0 0 4 13.5h2.5M10.5 11l3-3-3-3M13.5 8H6.5" />);
export const Sun = icon(
  <>
    <circle cx="8" cy="8" r="2.75" />
    <path d="M8 1.5v1M8 13.5v1M14.5 8h-1M2.5 8h-1M12.6 3.4l-.7.7M4.1 11.9l-.7.7M12.6 12.6l-.7-.7M4.1 4.1l-.7-.7" />
  </>,
);
export const Moon = icon(<path d="M13.5 9.75A6 6 0 0 1 6.25 2.5a6 6 0 1 0 7.25 7.25" />);
export const Screen = icon(<path d="M2 3.5h12v7.5H2zM6 13.5h4" />);
export const Tag = icon(
  <>
    <path d="M2.5 7.75V3.5a1 1 0 0 1 1-1h4.25l5.75 5.75a1 1 0 0 1 0 1.4l-3.85 3.85a1 1 0 0 1-1.4 0z" />
    <circle cx="5.5" cy="5.5" r=".75" fill="currentColor" stroke="none" />
  </>,
);
export const Back = icon(<path d="M9.5 3.5 5 8l4.5 4.5" />);
export const Chevron = icon(<path d="m4.5 6.5 3.5 3.5 3.5-3.5" />);
export const UpDown = icon(<path d="m5.5 6 2.5-2.5L10.5 6M5.5 10 8 12.5l2.5-2.5" strokeWidth={1.25} />);
/** Points down; turned by its button. */
export const SortArrow = icon(<path d="M8 2.5v11M3.5 9 8 13.5 12.5 9" strokeWidth={2} />);
export const Key = icon(
  <>
    <circle cx="5.25" cy="10.75" r="2.75" />
    <path d="m7.25 8.75 5.75-5.75M10.5 5.5l2 2" />
  </>,
);
export const Shield = icon(<path d="M8 1.75 13 3.5v4c0 3.25-2 5.5-5 6.75-3-1.25-5-3.5-5-6.75v-4z" />);
export const Cloud = icon(<path d="M2 2l12 12M5 5.1A3.5 3.5 0 0 0 4.5 12H11M7 3.8a4 4 0 0 1 5 3.2 2.6 2.6 0 0 1 1.8 4.2" />);
export const Keyboard = icon(<path d="M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M12 7h.01M5 9.25h6" />);
export const Globe = icon(
  <>
    <circle cx="8" cy="8" r="6" />
    <path d="M2 8h12M8 2c2 2 2.5 4 2.5 6S10 12 8 14c-2-2-2.5-4-2.5-6S6 4 8 2" />
  </>,
);
export const Send = icon(<path d="M14 2 1.75 6.5l5 2.25L9 13.75zM14 2 6.75 8.75" />);
export const Mail = icon(<path d="M2 3.5h12v9H2zM2.25 4 8 8.75 13.75 4" />);
export const Hook = icon(
  <>
    <path d="M8 5.25a2.25 2.25 0 1 0-2.1-1.4M8.6 5.2l2.2 4M5.9 5.1 3.7 9.3" />
    <path d="M5.5 12.5A2.25 2.25 0 1 1 3.6 9.4M5.75 11.25h5M10.75 9.2a2.25 2.25 0 1 1-.25 3.6" />
  </>,
);
export const Terminal = icon(<path d="M2 3h12v10H2zM4.75 6l2 2-2 2M8.5 10h3" />);
export const Card = icon(<path d="M2 4h12v8.5H2zM2 7h12M4.5 10h2.5" />);
export const Wrench = icon(<path d="M13.5 4.5 11 7 9 5l2.5-2.5A3.5 3.5 0 0 0 7 7l-4.5 4.5 2 2L9 9a3.5 3.5 0 0 0 4.5-4.5" />);

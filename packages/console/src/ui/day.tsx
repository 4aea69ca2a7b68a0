import { formatDate, formatTime } from "./time.ts";

/** The day of an ISO 8601 time; its tooltip has the hour. */
export const Day = ({ time }: { readonly time: string }) => (
  <time class="day" dateTime={time} title={formatTime(time)}>
    {formatDate(time)}
  </time>
);

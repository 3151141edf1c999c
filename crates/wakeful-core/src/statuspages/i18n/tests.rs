use super::*;

#[test]
fn times_and_durations_are_written_in_every_language() {
    let zone = Zone::parse("Europe/Berlin").expect("a zone");
    let at = Millis(1_795_000_000_000);
    let written = |language: Language| language.messages().time(at, &zone);
    assert_eq!(written(Language::English), "November 18, 2026, 12:06 CET");
    assert_eq!(written(Language::German), "18. November 2026, 12:06 CET");
    assert_eq!(written(Language::Japanese), "2026年11月18日 12:06 CET");
    let english = Language::English.messages();
    for (seconds, text) in [(0, "0 s"), (59, "59 s"), (7_500, "2 h 5 min"), (86_401, "1 d")] {
        assert_eq!(english.duration(Duration::from_secs(seconds)), text);
    }
}

#[test]
fn percentages_are_written_as_the_language_writes_them() {
    let uptime = Uptime::of(99_950, 50).expect("data");
    for (language, with_decimals, without) in [
        (Language::English, "99.950%", "99%"),
        (Language::German, "99,950\u{a0}%", "99\u{a0}%"),
        (Language::French, "99,950\u{202f}%", "99\u{202f}%"),
        (Language::Spanish, "99,950\u{a0}%", "99\u{a0}%"),
        (Language::Dutch, "99,950%", "99%"),
        (Language::Portuguese, "99,950%", "99%"),
        (Language::Japanese, "99.950%", "99%"),
        (Language::Arabic, "99.950%", "99%"),
    ] {
        let messages = language.messages();
        assert_eq!(messages.uptime_percentage(uptime, 3), with_decimals, "{language}");
        assert_eq!(messages.uptime_percentage(uptime, 0), without, "{language}");
    }
}

#[test]
fn every_language_uses_the_same_placeholders() {
    let placeholders = |text: &str| {
        let mut found: Vec<String> = text
            .split('{')
            .skip(1)
            .filter_map(|part| part.split_once('}').map(|(name, _)| name.to_owned()))
            .collect();
        found.sort();
        found
    };
    let patterns = |m: &Messages| {
        [
            m.lasted,
            m.window,
            m.days_ago,
            m.uptime_of,
            m.bars_bad,
            m.bars_one,
            m.bars_good,
            m.bars_no_data,
            m.certificate_until,
            m.last_days,
            m.percentile,
            m.time_zone,
            m.as_of,
            m.delayed_since,
            m.changed,
            m.percent_format,
            m.date_format,
            m.month_format,
            m.time_format,
        ]
    };
    let subscriptions = |s: &Subscriptions| {
        [
            s.confirm_text,
            s.webhook_failed,
            s.unsubscribe_text,
            s.confirm_subject,
            s.confirm_email,
            s.why,
            s.several_updates,
            s.begins_at,
            s.ended_subject,
            s.ended_email,
        ]
    };
    let of_subscriptions = subscriptions(Language::English.subscriptions());
    for language in Language::ALL {
        let phrases = subscriptions(language.subscriptions());
        for (phrase, english) in phrases.into_iter().zip(of_subscriptions) {
            assert_eq!(placeholders(phrase), placeholders(english), "{language}: {phrase}");
        }
    }
    let english = patterns(Language::English.messages());
    for language in Language::ALL {
        for (pattern, english) in patterns(language.messages()).into_iter().zip(english) {
            assert_eq!(placeholders(pattern), placeholders(english), "{language}: {pattern}");
        }
    }
}

#[test]
fn the_english_descriptions_are_those_of_statuspage() {
    let english = Language::English.messages();
    let described = |indicator, by_incident| {
        english.page_status(PageStatus { indicator, by_incident, no_data: false })
    };
    assert_eq!(described(Indicator::None, false), "All Systems Operational");
    assert_eq!(described(Indicator::Minor, false), "Partially Degraded Service");
    assert_eq!(described(Indicator::Minor, true), "Minor Service Outage");
    assert_eq!(described(Indicator::Major, false), "Partial System Outage");
    assert_eq!(described(Indicator::Critical, true), "Major Service Outage");
    assert_eq!(described(Indicator::Maintenance, false), "Service Under Maintenance");
}

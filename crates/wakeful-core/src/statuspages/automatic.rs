//! The texts of updates that nobody has written, in the languages of pages.

use std::collections::BTreeMap;

use super::Language;
use super::page::Texts;

/// What an update without an author says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomaticText {
    MaintenanceBegun,
    MaintenanceCompleted,
    /// Components are down.
    NotAvailable,
    /// They work again.
    Recovered,
    Resolved,
}

impl AutomaticText {
    /// The text in English, and all translations of `field`. The components, whose names depend on
    /// the language as well, are named where the text has a place for them.
    pub fn texts(self, field: &str, components: impl Fn(Language) -> String) -> (String, Texts) {
        let text =
            |language: Language| self.of(language).replace("{components}", &components(language));
        let translated = |language: &Language| {
            (*language, BTreeMap::from([(field.to_owned(), text(*language))]))
        };
        (text(Language::English), Language::ALL.iter().map(translated).collect())
    }

    fn of(self, language: Language) -> &'static str {
        use AutomaticText::{
            MaintenanceBegun, MaintenanceCompleted, NotAvailable, Recovered, Resolved,
        };
        use Language::{Arabic, Dutch, English, French, German, Japanese, Portuguese, Spanish};
        match (self, language) {
            (MaintenanceBegun, English) => "The scheduled maintenance has begun.",
            (MaintenanceBegun, German) => "Die geplante Wartung hat begonnen.",
            (MaintenanceBegun, French) => "La maintenance planifiée a commencé.",
            (MaintenanceBegun, Spanish) => "El mantenimiento programado ha comenzado.",
            (MaintenanceBegun, Dutch) => "Het geplande onderhoud is begonnen.",
            (MaintenanceBegun, Portuguese) => "A manutenção programada começou.",
            (MaintenanceBegun, Japanese) => "予定されていたメンテナンスを開始しました。",
            (MaintenanceBegun, Arabic) => "بدأت الصيانة المجدولة.",
            (MaintenanceCompleted, English) => "The scheduled maintenance has been completed.",
            (MaintenanceCompleted, German) => "Die geplante Wartung ist abgeschlossen.",
            (MaintenanceCompleted, French) => "La maintenance planifiée est terminée.",
            (MaintenanceCompleted, Spanish) => "El mantenimiento programado ha finalizado.",
            (MaintenanceCompleted, Dutch) => "Het geplande onderhoud is voltooid.",
            (MaintenanceCompleted, Portuguese) => "A manutenção programada foi concluída.",
            (MaintenanceCompleted, Japanese) => "予定されていたメンテナンスが完了しました。",
            (MaintenanceCompleted, Arabic) => "اكتملت الصيانة المجدولة.",
            (NotAvailable, English) => "{components} is not available. We are looking into it.",
            (NotAvailable, German) => "{components} ist nicht verfügbar. Wir untersuchen das.",
            (NotAvailable, French) => {
                "{components} n’est pas disponible. Nous examinons le problème."
            }
            (NotAvailable, Spanish) => "{components} no está disponible. Lo estamos investigando.",
            (NotAvailable, Dutch) => "{components} is niet beschikbaar. We onderzoeken het.",
            (NotAvailable, Portuguese) => "{components} não está disponível. Estamos a investigar.",
            (NotAvailable, Japanese) => "{components} を利用できません。現在調査しています。",
            (NotAvailable, Arabic) => "{components} غير متاح. نحن نتحقق من الأمر.",
            (Recovered, English) => "{components} works again. We are monitoring the situation.",
            (Recovered, German) => "{components} funktioniert wieder. Wir beobachten die Lage.",
            (Recovered, French) => {
                "{components} fonctionne à nouveau. Nous surveillons la situation."
            }
            (Recovered, Spanish) => {
                "{components} funciona de nuevo. Seguimos vigilando la situación."
            }
            (Recovered, Dutch) => "{components} werkt weer. We houden de situatie in de gaten.",
            (Recovered, Portuguese) => {
                "{components} funciona novamente. Estamos a acompanhar a situação."
            }
            (Recovered, Japanese) => "{components} は復旧しました。引き続き監視しています。",
            (Recovered, Arabic) => "عاد {components} إلى العمل. نحن نراقب الوضع.",
            (Resolved, English) => "This incident has been resolved.",
            (Resolved, German) => "Diese Störung ist behoben.",
            (Resolved, French) => "Cet incident est résolu.",
            (Resolved, Spanish) => "Este incidente se ha resuelto.",
            (Resolved, Dutch) => "Dit incident is opgelost.",
            (Resolved, Portuguese) => "Este incidente foi resolvido.",
            (Resolved, Japanese) => "この障害は解決しました。",
            (Resolved, Arabic) => "تم حل هذا الحادث.",
        }
    }
}
